/** The wire format of HTTP/1.1 (RFC 9112), the same for both sides: heads, framing, chunks. */
@NullMarked
package io.kamille.core.h1;

import org.jspecify.annotations.NullMarked;
