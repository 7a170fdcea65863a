/** One request and its response on a connection to an origin, whatever the version of HTTP. */
@NullMarked
package io.kamille.core.origin.wire;

import org.jspecify.annotations.NullMarked;
