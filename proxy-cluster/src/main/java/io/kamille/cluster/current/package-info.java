/** How a node knows that it has missed nothing, without a common clock. */
@NullMarked
package io.kamille.cluster.current;

import org.jspecify.annotations.NullMarked;
