/** Peak mode: when requests leave the disk alone, because it is slower than the origin. */
@NullMarked
package io.kamille.cache.peak;

import org.jspecify.annotations.NullMarked;
