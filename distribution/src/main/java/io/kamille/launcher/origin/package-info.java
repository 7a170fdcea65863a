/** An origin that does what a script says: for the demo, for calibration, and for tests. */
@NullMarked
package io.kamille.launcher.origin;

import org.jspecify.annotations.NullMarked;
