/** A small site to try the proxy on, without an origin of one's own. */
@NullMarked
package io.kamille.launcher.demo;

import org.jspecify.annotations.NullMarked;
