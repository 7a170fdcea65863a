package io.kamille.core.upstream.name;

import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Finds the addresses of a name. Any thread; nobody waits in a call. */
@FunctionalInterface
public interface NameLookup {

  /**
   * Asks once.
   *
   * @param host a name or an IP address without brackets
   * @return fails with an {@link java.net.UnknownHostException} that says why
   */
  CompletableFuture<Answer> find(String host);

  /**
   * What a look-up has found.
   *
   * @param addresses at least one, the preferred ones first
   * @param validFor how long they may be used without another look-up
   */
  record Answer(List<InetAddress> addresses, Duration validFor) {

    public Answer {
      addresses = List.copyOf(addresses);
    }
  }
}
