/** Lends connections to an origin and takes them back, one pool per origin and loop. */
@NullMarked
package io.kamille.core.upstream.pool;

import org.jspecify.annotations.NullMarked;
