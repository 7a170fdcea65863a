package io.kamille.core.origin.names;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Finds what names mean. Any thread; nobody waits in a call. */
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
   * Asks once for a full name, which no search domain is added to.
   *
   * @return fails as {@link #find}
   */
  default CompletableFuture<Answer> findFull(String host) {
    return find(host);
  }

  /**
   * Asks once where a service is (RFC 2782).
   *
   * @param name such as {@code _http._tcp.example.org}
   * @return fails as {@link #find}
   */
  default CompletableFuture<Services> services(String name) {
    return CompletableFuture.failedFuture(
        new UnknownHostException(name + ": nothing here looks SRV records up"));
  }

  /** A record of type SRV. The host may be any text. */
  record Service(int priority, int weight, String host, int port) {}

  /**
   * What a look-up of a service has found.
   *
   * @param services perhaps none
   * @param validFor as in {@link Answer}
   */
  record Services(List<Service> services, Duration validFor) {

    public Services {
      services = List.copyOf(services);
    }
  }

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
