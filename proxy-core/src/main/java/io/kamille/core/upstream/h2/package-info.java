/** The wire to an origin server in HTTP/2 (RFC 9113). */
@NullMarked
package io.kamille.core.upstream.h2;

import org.jspecify.annotations.NullMarked;
