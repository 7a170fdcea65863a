/** What the appliance counts, in the formats of the world outside. */
@NullMarked
package io.kamille.admin.metric;

import org.jspecify.annotations.NullMarked;
