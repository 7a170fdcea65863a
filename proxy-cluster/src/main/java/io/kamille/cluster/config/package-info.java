/** One configuration for all nodes: prepared at each, ordered by the log. */
@NullMarked
package io.kamille.cluster.config;

import org.jspecify.annotations.NullMarked;
