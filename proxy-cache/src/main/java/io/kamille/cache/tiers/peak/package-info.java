/** Peak mode: when requests leave the disk alone, because it is slower than the origin. */
@NullMarked
package io.kamille.cache.tiers.peak;

import org.jspecify.annotations.NullMarked;
