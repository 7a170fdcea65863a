/**
 * Memory and disk as one store: changes, copies, promotion, and what the next process begins with.
 */
@NullMarked
package io.kamille.cache.tiers;

import org.jspecify.annotations.NullMarked;
