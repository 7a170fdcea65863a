/** Fetches what will be asked for, before anybody asks. */
@NullMarked
package io.kamille.launcher.warm;

import org.jspecify.annotations.NullMarked;
