/** Whether this machine is set up for what a configuration asks for. */
@NullMarked
package io.kamille.launcher.doctor;

import org.jspecify.annotations.NullMarked;
