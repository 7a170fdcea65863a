/** The appliance: it reads the command line, assembles the chain and starts it. */
@NullMarked
package io.kamille.launcher;

import org.jspecify.annotations.NullMarked;
