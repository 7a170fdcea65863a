/** Where stored responses go and come from, whatever tier they lie in. */
@NullMarked
package io.kamille.cache.tier;

import org.jspecify.annotations.NullMarked;
