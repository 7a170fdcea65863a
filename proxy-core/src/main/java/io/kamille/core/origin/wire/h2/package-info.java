/** HTTP/2 toward origins (RFC 9113). */
@NullMarked
package io.kamille.core.origin.wire.h2;

import org.jspecify.annotations.NullMarked;
