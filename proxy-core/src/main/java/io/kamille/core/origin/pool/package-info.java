/** The open connections to an origin, and the requests that wait for one. */
@NullMarked
package io.kamille.core.origin.pool;

import org.jspecify.annotations.NullMarked;
