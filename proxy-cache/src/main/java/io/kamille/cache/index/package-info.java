/** Finds stored responses by cache key, and chooses what to forget when room is short. */
@NullMarked
package io.kamille.cache.index;

import org.jspecify.annotations.NullMarked;
