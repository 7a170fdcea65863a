/** Changes of single values in a YAML text, which keep its comments. */
@NullMarked
package io.kamille.launcher.patch;

import org.jspecify.annotations.NullMarked;
