package io.kamille.cluster.peer;

import io.kamille.core.setting.HostPort;

/**
 * One current node of the cluster, this one or another.
 *
 * @param name what its certificate is for, among other names
 * @param address where it listens to other nodes
 * @param sinceNanos since when it has been a member, as it says itself, by our monotonic clock: all
 *     nodes have to agree on how long that is
 * @param isDraining whether it is about to leave
 */
public record PeerNode(String name, HostPort address, long sinceNanos, boolean isDraining) {}
