package io.kamille.cluster;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The log of the cluster as this node has it.
 *
 * @param leader the node that orders entries; null if nobody does
 * @param appended the number of the last entry; null if this node has lost its log
 * @param committed the number of the last entry that a majority has
 * @param snapshot the number of the last purge that the snapshot before the entries has
 * @param last what the last entries are about, the newest first
 */
public record LogView(
    @Nullable String leader,
    long term,
    @Nullable Long appended,
    long committed,
    long bytes,
    long snapshot,
    List<String> last) {}
