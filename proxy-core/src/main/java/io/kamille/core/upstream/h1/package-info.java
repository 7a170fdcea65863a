/** The wire to an origin server in HTTP/1.1 (RFC 9112). */
@NullMarked
package io.kamille.core.upstream.h1;

import org.jspecify.annotations.NullMarked;
