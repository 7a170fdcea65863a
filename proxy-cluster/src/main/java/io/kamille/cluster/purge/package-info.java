/** Purges that hold at all nodes: in the log, in one order, with an answer of each node. */
@NullMarked
package io.kamille.cluster.purge;

import org.jspecify.annotations.NullMarked;
