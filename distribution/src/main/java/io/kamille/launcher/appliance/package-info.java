/** The appliance as a whole: put together, started, reloaded, drained, stopped. */
@NullMarked
package io.kamille.launcher.appliance;

import org.jspecify.annotations.NullMarked;
