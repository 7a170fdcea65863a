/** HTTP/1.1 toward origins (RFC 9112). */
@NullMarked
package io.kamille.core.origin.wire.h1;

import org.jspecify.annotations.NullMarked;
