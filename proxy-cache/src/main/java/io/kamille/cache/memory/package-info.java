/** Where stored octets lie in memory: an arena outside the heap, taken whole at start. */
@NullMarked
package io.kamille.cache.memory;

import org.jspecify.annotations.NullMarked;
