/** How the command line talks to the running appliance: by its local socket. */
@NullMarked
package io.kamille.launcher.client;

import org.jspecify.annotations.NullMarked;
