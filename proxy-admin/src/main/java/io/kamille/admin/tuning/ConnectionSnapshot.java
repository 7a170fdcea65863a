package io.kamille.admin.tuning;

import io.kamille.core.socket.SendBuffer;
import io.kamille.core.socket.TcpSample;
import io.kamille.core.socket.TcpSamples.Waiting;

/**
 * What is known of a connection, and why it has the send buffer it has.
 *
 * @param number which no other connection has
 * @param client address
 * @param sample the last look
 * @param waiting in front of the kernel, at the last look
 * @param partBytes of the budget; 0 if the kernel decides
 * @param grantedBytes at which the kernel fixed the size; 0 if it tunes it
 * @param ageSeconds since the last look
 * @param why in a sentence
 */
public record ConnectionSnapshot(
    long number,
    String client,
    String protocol,
    TcpSample sample,
    Waiting waiting,
    Estimate estimate,
    SendBuffer buffer,
    long partBytes,
    int grantedBytes,
    double ageSeconds,
    String why) {}
