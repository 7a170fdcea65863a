/** How a connection to an origin is opened: addresses, TLS, the version of HTTP. */
@NullMarked
package io.kamille.core.origin.dial;

import org.jspecify.annotations.NullMarked;
