/** What an operator may set of a cluster. */
@NullMarked
package io.kamille.cluster.settings;

import org.jspecify.annotations.NullMarked;
