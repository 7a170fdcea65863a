/** The command line. */
@NullMarked
package io.kamille.launcher.cli;

import org.jspecify.annotations.NullMarked;
