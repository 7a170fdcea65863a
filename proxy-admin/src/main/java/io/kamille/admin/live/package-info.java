/** What the appliance did lately, second by second, and the stream of it for open pages. */
@NullMarked
package io.kamille.admin.live;

import org.jspecify.annotations.NullMarked;
