/** HTTP/1.1 toward the client (RFC 9112). */
@NullMarked
package io.kamille.core.client.h1;

import org.jspecify.annotations.NullMarked;
