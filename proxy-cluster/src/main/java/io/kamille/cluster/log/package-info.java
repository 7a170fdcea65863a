/** The log of the cluster: what its entries make, and purges with an answer of each node. */
@NullMarked
package io.kamille.cluster.log;

import org.jspecify.annotations.NullMarked;
