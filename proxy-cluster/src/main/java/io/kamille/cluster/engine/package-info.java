/** What carries messages and the log between members: JGroups, and what is asked of it. */
@NullMarked
package io.kamille.cluster.engine;

import org.jspecify.annotations.NullMarked;
