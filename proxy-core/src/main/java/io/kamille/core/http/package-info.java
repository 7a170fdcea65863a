/** The vocabulary of HTTP (RFC 9110): heads, fields, methods, dates. No I/O. */
@NullMarked
package io.kamille.core.http;

import org.jspecify.annotations.NullMarked;
