/** What a load needs of this machine, from what requests were measured to cost on it. */
@NullMarked
package io.kamille.launcher.sizing;

import org.jspecify.annotations.NullMarked;
