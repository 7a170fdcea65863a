/** The appliance as a service: its manager, its sockets, and who comes after it. */
@NullMarked
package io.kamille.launcher.service;

import org.jspecify.annotations.NullMarked;
