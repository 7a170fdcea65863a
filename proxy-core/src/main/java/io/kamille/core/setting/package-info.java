/**
 * Settings, declared once: from one declaration per setting come the reader that finds every
 * mistake in a file with its line and column, the reference page and the comparison for a reload.
 */
@NullMarked
package io.kamille.core.setting;

import org.jspecify.annotations.NullMarked;
