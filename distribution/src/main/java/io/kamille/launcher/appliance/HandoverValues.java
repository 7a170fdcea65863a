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
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.service.Inheritance;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
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

  /**
   * What the API may set beside the file.
   *
   * @param now what holds, in words
   * @param ofFile what the file says, in words
   */
  private record Choice(String name, String now, String ofFile, Consumer<String> setter) {}

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
    for (Choice choice : choices(appliance)) {
      if (!choice.now().equals(choice.ofFile())) {
        values.put(choice.name(), choice.now() + "; " + choice.ofFile());
      }
    }
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

  private static List<Choice> choices(Appliance appliance) {
    Configuration file = appliance.running();
    PeakChoice peak = file.cache().disk().peak();
    Optional<PeakWatch> watch = appliance.routes().cache().peak();
    return List.of(
        new Choice(
            "pace",
            words(appliance.loops().pace()),
            words(file.engine()),
            words -> appliance.loops().pace(pace(words.split(" ", -1)))),
        new Choice(
            "tuning",
            words(appliance.tuner().settings()),
            words(file.tuning()),
            words -> appliance.tuner().settings(tuning(words.split(" ", -1)))),
        new Choice(
            "peak",
            watch.map(PeakWatch::choice).orElse(peak).name(),
            peak.name(),
            words -> watch.ifPresent(it -> it.choose(PeakChoice.valueOf(words)))));
  }

  private static String words(PaceSettings pace) {
    return String.join(
        " ",
        pace.pacing().mode().name(),
        String.valueOf(pace.pacing().interval().toNanos()),
        String.valueOf(pace.spin().toNanos()));
  }

  private static PaceSettings pace(String... words) {
    var pacing = new Pacing(Pacing.Mode.valueOf(words[0]), nanos(words[1]));
    return new PaceSettings(pacing, nanos(words[2]));
  }

  private static Duration nanos(String word) {
    return Duration.ofNanos(Long.parseLong(word));
  }

  private static String words(TuningSettings tuning) {
    return tuning.policy() + " " + tuning.budgetBytes();
  }

  private static TuningSettings tuning(String... words) {
    return TuningSettings.DEFAULT
        .with(TuningPolicy.valueOf(words[0]))
        .withBudget(Long.parseLong(words[1]));
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
    appliance.clientSide().tls().takeTickets(under(TICKETS));
    takeRegistrations(appliance.routes().originsByApi());
    long now = WallClock.system().nanos();
    forEachOrigin(
        appliance, (name, origin) -> take(name, words -> origin.health().take(words, now)));
    for (Choice choice : choices(appliance)) {
      take(choice.name(), words -> ifStillSaid(words, choice));
    }
  }

  /** The values whose names begin so, by the rest of their names. */
  private Map<String, String> under(String prefix) {
    Map<String, String> found = new LinkedHashMap<>();
    values.forEach(
        (name, words) -> {
          if (name.startsWith(prefix)) {
            found.put(name.substring(prefix.length()), words);
          }
        });
    return found;
  }

  private void takeRegistrations(OriginsByApi origins) {
    Map<String, String> registrations = under(REGISTRATION);
    registrations
        .keySet()
        .forEach(name -> take(REGISTRATION + name, words -> origins.take(name, words)));
    if (!registrations.isEmpty()) {
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

  private static void ifStillSaid(String words, Choice choice) {
    List<String> parts = List.of(words.split("; ", -1));
    if (parts.get(1).equals(choice.ofFile())) {
      choice.setter().accept(parts.getFirst());
    }
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
