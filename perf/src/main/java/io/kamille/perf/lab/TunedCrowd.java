package io.kamille.perf.lab;

import io.kamille.perf.load.PathClients.Fetcher;
import io.kamille.perf.wan.LinkSettings;
import io.kamille.perf.wan.Namespaces;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Clients behind links of several kinds. Confined. */
final class TunedCrowd {

  private final List<String> kinds = new ArrayList<>();
  private final List<LinkSettings> links = new ArrayList<>();
  private final List<Fetcher> fetchers = new ArrayList<>();

  /**
   * Adds clients of one kind.
   *
   * @param path of each link, in the words of the emulator
   * @param count of links
   * @param each clients behind each link
   * @param octetsPerSecond each reads
   */
  TunedCrowd with(String kind, String path, int count, int each, int octetsPerSecond) {
    int group = kinds.size();
    kinds.add(kind);
    for (int i = 0; i < count; i++) {
      links.add(LinkSettings.symmetric(kind + i, path));
      for (int client = 1; client <= each; client++) {
        String local = Namespaces.address(links.size(), client);
        fetchers.add(
            new Fetcher(
                group, local, octetsPerSecond, Duration.ofMillis(2L * fetchers.size() % 1000)));
      }
    }
    return this;
  }

  /** Adds one client behind the last link, that begins later. */
  TunedCrowd later(String kind, int client, Duration start) {
    kinds.add(kind);
    String local = Namespaces.address(links.size(), client);
    fetchers.add(new Fetcher(kinds.size() - 1, local, Fetcher.UNLIMITED, start));
    return this;
  }

  List<String> kinds() {
    return kinds;
  }

  List<LinkSettings> links() {
    return links;
  }

  List<Fetcher> fetchers() {
    return fetchers;
  }

  /**
   * Jain's index of what clients got in parts of the mean of their kind.
   *
   * @param octets of each client
   */
  double fairness(List<Long> octets) {
    double sum = 0;
    double squares = 0;
    int n = 0;
    for (int i = 0; i < octets.size(); i++) {
      int group = fetchers.get(i).group();
      long ofKind = octetsOf(kinds.get(group), octets);
      long clients = fetchers.stream().filter(each -> each.group() == group).count();
      if (ofKind > 0) {
        double part = (double) octets.get(i) * clients / ofKind;
        sum += part;
        squares += part * part;
        n++;
      }
    }
    return squares == 0 ? 1 : sum * sum / (n * squares);
  }

  /**
   * The octets of one kind.
   *
   * @param octets of each client
   */
  long octetsOf(String kind, List<Long> octets) {
    int group = kinds.indexOf(kind);
    long sum = 0;
    for (int i = 0; i < octets.size(); i++) {
      sum += fetchers.get(i).group() == group ? octets.get(i) : 0;
    }
    return sum;
  }
}
