/** What nodes know alike and nobody else does: keys of one secret, and values in the log. */
@NullMarked
package io.kamille.cluster.secret;

import org.jspecify.annotations.NullMarked;
