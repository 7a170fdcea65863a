/** Gives stored content its content codings, beside the loops. */
@NullMarked
package io.kamille.cache.coding;

import org.jspecify.annotations.NullMarked;
