package io.kamille.launcher.appliance;

import io.kamille.admin.tuning.TuningPolicy;
import io.kamille.admin.tuning.TuningSettings;
import io.kamille.cache.CacheHandover;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.key.HashSecret;
import io.kamille.cache.purge.PurgeNotes;
import io.kamille.cache.purge.RemovalListener;
import io.kamille.cache.tiers.peak.PeakChoice;
import io.kamille.cache.tiers.peak.PeakWatch;
import io.kamille.core.loop.PaceSettings;
import io.kamille.core.loop.Pacing;
import io.kamille.core.loop.WallClock;
import io.kamille.core.origin.Origin;
import io.kamille.launcher.service.Inheritance;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * What a running appliance knows beside its configuration and its responses, as one process hands
 * it to the next: values by name, in words. Confined to the thread that starts or hands over.
 */
final class HandoverValues {

  /*
   *   secret                 of the cache keys
   *   tickets NAME           keys of session tickets of a listener
   *   lease UPSTREAM URL     an origin that the API has added
   *   origin UPSTREAM N URL  health of its origin of that number
   *   pace, tuning, peak     what was set through the API, and "; " and what the file said before
   *
   * What was set through the API goes on if the file says the same as before, as with a reload.
   * Nothing here is needed: a value that is missing or not understood is left out.
   */
  private static final System.Logger LOG = System.getLogger("kamille.appliance");
  private static final String SECRET = "secret";
  private static final String TICKETS = "tickets ";
  private static final String REGISTRATION = "lease ";
  private static final String ORIGIN = "origin ";
  private static final String PACE = "pace";
  private static final String TUNING = "tuning";
  private static final String PEAK = "peak";

  private final Map<String, String> values;

  /** What another process said, perhaps nothing. */
  HandoverValues(Map<String, String> values) {
    this.values = values;
  }

  // The process that hands over

  /** What that appliance knows. */
  static Map<String, String> of(Appliance appliance) {
    Map<String, String> values = new LinkedHashMap<>();
    values.put(SECRET, HashSecret.words());
    appliance
        .clientSide()
        .tls()
        .ticketKeys()
        .forEach((name, keys) -> values.put(TICKETS + name, keys));
    PaceSettings pace = appliance.loops().pace();
    if (!pace.equals(pace(appliance))) {
      values.put(PACE, words(pace) + "; " + words(pace(appliance)));
    }
    TuningSettings tuning = appliance.tuner().settings();
    if (!tuning.equals(appliance.running().tuning())) {
      values.put(TUNING, words(tuning) + "; " + words(appliance.running().tuning()));
    }
    appliance
        .routes()
        .cache()
        .peak()
        .map(PeakWatch::choice)
        .filter(choice -> choice != peak(appliance))
        .ifPresent(choice -> values.put(PEAK, choice + "; " + peak(appliance)));
    appliance
        .routes()
        .originsByApi()
        .words()
        .forEach((name, registration) -> values.put(REGISTRATION + name, registration));
    long now = WallClock.system().nanos();
    forEachOrigin(
        appliance,
        (name, origin) -> {
          String health = origin.health().words(now);
          if (health != null) {
            values.put(name, health);
          }
        });
    return values;
  }

  private static PaceSettings pace(Appliance appliance) {
    return appliance.running().engine();
  }

  private static PeakChoice peak(Appliance appliance) {
    return appliance.running().cache().disk().peak();
  }

  private static String words(PaceSettings pace) {
    // The third and the last word are those of settings which are gone: a process before this one
    // compares them.
    return String.join(
        " ",
        pace.pacing().mode().name(),
        String.valueOf(pace.pacing().interval().toNanos()),
        String.valueOf(PaceSettings.LATENCY_BUDGET.toNanos()),
        String.valueOf(pace.spin().toNanos()),
        "0.1");
  }

  private static String words(TuningSettings tuning) {
    // The second word is that of a setting which is gone: a process before this one compares it.
    return tuning.policy() + " FITTED " + tuning.budgetBytes();
  }

  private static void forEachOrigin(Appliance appliance, BiConsumer<String, Origin> reader) {
    appliance
        .routes()
        .origins()
        .forEach(
            (upstream, origins) -> {
              for (int i = 0; i < origins.size(); i++) {
                Origin origin = origins.get(i);
                reader.accept(ORIGIN + upstream + " " + i + " " + origin.url(), origin);
              }
            });
  }

  // The process that takes over

  /** Makes cache keys mean what they meant. Comes before the first one. */
  void takeSecret() {
    take(SECRET, HashSecret::use);
  }

  /** Goes on where the other left off. Comes before the first listener opens. */
  void takeOver(Appliance appliance) {
    Map<String, String> tickets = new HashMap<>();
    values.forEach(
        (name, keys) -> {
          if (name.startsWith(TICKETS)) {
            tickets.put(name.substring(TICKETS.length()), keys);
          }
        });
    appliance.clientSide().tls().takeTickets(tickets);
    takeRegistrations(appliance.routes().originsByApi());
    long now = WallClock.system().nanos();
    forEachOrigin(
        appliance, (name, origin) -> take(name, words -> origin.health().take(words, now)));
    take(PACE, words -> ifStillSaid(words, words(pace(appliance)), set -> setPace(appliance, set)));
    take(
        TUNING,
        words ->
            ifStillSaid(
                words, words(appliance.running().tuning()), set -> setTuning(appliance, set)));
    take(
        PEAK,
        words ->
            ifStillSaid(
                words,
                peak(appliance).name(),
                set ->
                    appliance
                        .routes()
                        .cache()
                        .peak()
                        .ifPresent(watch -> watch.choose(PeakChoice.valueOf(set)))));
  }

  private void takeRegistrations(OriginsByApi origins) {
    List<String> names =
        values.keySet().stream().filter(name -> name.startsWith(REGISTRATION)).toList();
    for (String name : names) {
      take(name, words -> origins.take(name.substring(REGISTRATION.length()), words));
    }
    if (!names.isEmpty()) {
      origins.refresh();
    }
  }

  private void take(String name, Consumer<String> taker) {
    String words = values.get(name);
    if (words == null) {
      return;
    }
    try {
      taker.accept(words);
    } catch (IllegalArgumentException | IndexOutOfBoundsException unknown) {
      LOG.log(Level.WARNING, "not taken over from the process before us: {0}", name);
    }
  }

  private static void ifStillSaid(String words, String file, Consumer<String> setting) {
    List<String> parts = List.of(words.split("; ", -1));
    if (parts.get(1).equals(file)) {
      setting.accept(parts.getFirst());
    }
  }

  private static void setPace(Appliance appliance, String words) {
    String[] parts = words.split(" ", -1);
    appliance
        .loops()
        .pace(
            new PaceSettings(
                new Pacing(Pacing.Mode.valueOf(parts[0]), nanos(parts[1])), nanos(parts[3])));
  }

  private static Duration nanos(String word) {
    return Duration.ofNanos(Long.parseLong(word));
  }

  private static void setTuning(Appliance appliance, String words) {
    String[] parts = words.split(" ", -1);
    appliance
        .tuner()
        .settings(
            TuningSettings.DEFAULT
                .with(TuningPolicy.valueOf(parts[0]))
                .withBudget(Long.parseLong(parts[2])));
  }

  /** Removes here what the other process removes, and tells it what is removed here. */
  void follow(Inheritance inheritance, CacheHandover handover) {
    inheritance.follow(
        follower(handover.follower()),
        elder -> handover.tellElder(elder == null ? null : follower(elder)));
  }

  /**
   * Who removes here what the other process removes.
   *
   * @param cache does so if both have the same keys; if not, each removal clears it
   */
  RemovalListener follower(RemovalListener cache) {
    return HashSecret.words().equals(values.get(SECRET)) ? cache : new Clearing(cache);
  }

  /** A removal under keys that mean nothing here. */
  private record Clearing(RemovalListener cache) implements RemovalListener {

    Clearing {
      Objects.requireNonNull(cache);
    }

    @Override
    public void removed(CacheKey key) {
      cache.cleared();
    }

    @Override
    public void purged(PurgeNotes.Note note) {
      cache.cleared();
    }

    @Override
    public void cleared() {
      cache.cleared();
    }
  }
}
