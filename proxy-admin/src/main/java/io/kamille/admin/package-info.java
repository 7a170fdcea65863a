/** The control plane: it shows, tunes and purges a running proxy from a listener of its own. */
@NullMarked
package io.kamille.admin;

import org.jspecify.annotations.NullMarked;
