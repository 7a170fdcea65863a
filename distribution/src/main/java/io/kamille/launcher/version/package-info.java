/** Versions of the configuration: who changed what, trials, and the way back. */
@NullMarked
package io.kamille.launcher.version;

import org.jspecify.annotations.NullMarked;
