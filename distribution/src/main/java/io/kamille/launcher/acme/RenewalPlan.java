package io.kamille.launcher.acme;

import io.kamille.core.tls.ServerCertificate;
import io.kamille.launcher.acme.Issuer.Refusal;
import io.kamille.launcher.acme.Issuer.Window;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * When the certificate of one name is ordered next, and why then. Lies on the disk beside the
 * certificate: no restart forgets it, so a process that crashes again and again orders no more
 * often. Immutable.
 *
 * @param issued when the last of them were, the oldest first; at most {@link #MOST_ISSUED}
 * @param failures orders that failed since then, one under way included
 * @param notBefore the next try is not before this
 * @param error why the last one failed, and what to do; empty if it did not
 * @param isStopped no try before an operator has done something
 * @param chosen the moment of the renewal; null if there is no certificate
 * @param because why then, if there is more to say than the lifetime
 * @param askAgain when to ask for that again
 */
record RenewalPlan(
    List<Instant> issued,
    int failures,
    Instant notBefore,
    String error,
    boolean isStopped,
    @Nullable Instant chosen,
    String because,
    Instant askAgain) {

  /** It may come from a file. */
  RenewalPlan {
    issued = List.copyOf(issued);
    Objects.requireNonNull(notBefore);
    Objects.requireNonNull(error);
    Objects.requireNonNull(because);
    Objects.requireNonNull(askAgain);
  }

  /*
   * The moment: what the authority suggests (RFC 9773), drawn once within its window and kept. Else
   * two thirds of the lifetime, or half of a short one, less a random part: what was issued on one
   * day is not renewed in one hour. A window past five sixths is cut there: an authority's mistake
   * must not end a site.
   *
   * The bounds keep below those of Let's Encrypt: 5 certificates for a name in 7 days, 5 failed
   * validations in an hour.
   */
  static final int MOST_ISSUED = 3;
  private static final Duration ISSUED_WITHIN = Duration.ofDays(7);
  private static final Duration FARTHEST = ISSUED_WITHIN.plusDays(1);
  private static final Duration SHORT_LIFETIME = Duration.ofDays(10);
  private static final int FAILURES_AT_ONCE = 3;
  private static final Duration PATIENCE = Duration.ofMinutes(15);
  private static final int SPREAD_PART = 24;
  private static final Duration ASK_EVERY = Duration.ofHours(12);
  private static final Duration ASK_AT_MOST_AFTER = Duration.ofDays(1);
  private static final List<Duration> DISTANCES =
      List.of(
          Duration.ofMinutes(1),
          Duration.ofMinutes(10),
          Duration.ofMinutes(100),
          Duration.ofDays(1));

  /** Of a name that was never ordered. */
  static final RenewalPlan NONE =
      new RenewalPlan(List.of(), 0, Instant.EPOCH, "", false, null, "", Instant.EPOCH);

  /** When it is ordered next; {@link Instant#MAX} if an operator has to do something before. */
  Instant due(@Nullable ServerCertificate certificate, Instant now) {
    if (isStopped) {
      return Instant.MAX;
    }
    Instant wanted = chosen == null ? Instant.MAX : chosen; // Asked about first, see askAgain.
    wanted = isUsable(certificate, now) ? wanted : Instant.EPOCH;
    Instant last = now.plus(FARTHEST);
    return Stream.of(wanted, sane(notBefore, last), sane(allowed(), last))
        .max(Instant::compareTo)
        .orElseThrow();
  }

  /** Why then, as a part of a sentence. */
  String why(@Nullable ServerCertificate certificate, Instant now) {
    if (isStopped) {
      return "an operator has to do something before";
    }
    Instant due = due(certificate, now);
    if (due.equals(allowed()) && due.isAfter(now)) {
      return MOST_ISSUED + " certificates were issued within 7 days";
    }
    if (!error.isEmpty()) {
      return failures + (failures == 1 ? " try has" : " tries have") + " failed";
    }
    if (!isUsable(certificate, now)) {
      return certificate == null ? "there is none yet" : "it has expired";
    }
    return because.isEmpty() ? "most of its lifetime is over by then" : because;
  }

  /** When to ask the authority again for the moment of the renewal. */
  Instant asks(Instant now) {
    return sane(askAgain, now.plus(ASK_AT_MOST_AFTER));
  }

  /** Our clock was wrong when it was written. */
  private static Instant sane(Instant moment, Instant last) {
    return moment.isAfter(last) ? Instant.EPOCH : moment;
  }

  private static boolean isUsable(@Nullable ServerCertificate certificate, Instant now) {
    return certificate != null && certificate.notAfter().isAfter(now);
  }

  private Instant allowed() {
    return issued.size() < MOST_ISSUED ? Instant.EPOCH : issued.getFirst().plus(ISSUED_WITHIN);
  }

  /** An order begins, which counts as failed until it has {@link #succeeded}. */
  RenewalPlan begun(Instant now, RandomGenerator random) {
    Duration distance = DISTANCES.get(Math.min(failures, DISTANCES.size() - 1));
    double jitter = random.nextDouble(0.8, 1.2);
    Instant next = now.plusMillis((long) (distance.toMillis() * jitter));
    return new RenewalPlan(issued, failures + 1, next, error, false, chosen, because, askAgain);
  }

  /** It failed, or its certificate could not be kept. An authority may want to wait for longer. */
  RenewalPlan failed(Exception why, Way challenge, String name, Instant now) {
    if (!(why instanceof Refusal refusal)) {
      return counted(now).tried(notBefore, "it cannot be kept: " + why, false);
    }
    Instant asked = refusal.retryAfter == null ? notBefore : refusal.retryAfter;
    Instant last = now.plus(ISSUED_WITHIN);
    Instant next = asked.isBefore(notBefore) ? notBefore : asked;
    return tried(
        next.isAfter(last) ? last : next, Advice.of(refusal, challenge, name), refusal.isFinal);
  }

  /** No try before an operator has done something. */
  RenewalPlan stopped(String why) {
    return tried(notBefore, why, true);
  }

  /** An operator may have done it. */
  RenewalPlan resumed() {
    return isStopped ? tried(notBefore, error, false) : this;
  }

  private RenewalPlan tried(Instant next, String why, boolean isLast) {
    return new RenewalPlan(issued, failures, next, why, isLast, chosen, because, askAgain);
  }

  /** This certificate was issued. */
  RenewalPlan succeeded(ServerCertificate certificate, Instant now, RandomGenerator random) {
    return new RenewalPlan(
            counted(now).issued, 0, Instant.EPOCH, "", false, null, "", Instant.EPOCH)
        .unsuggested(certificate, now, random);
  }

  /** An operator asks for a new one: at once, or in a while if much has failed already. */
  RenewalPlan asked(Instant now) {
    Instant soon = now.plus(failures < FAILURES_AT_ONCE ? Duration.ZERO : PATIENCE);
    Instant next = notBefore.isBefore(soon) ? notBefore : soon;
    return new RenewalPlan(
        issued, failures, next, error, false, now, "an operator asks for it", askAgain);
  }

  /** Whether the bound of certificates in seven days is reached. */
  boolean isUsedUp(Instant now) {
    return allowed().isAfter(now);
  }

  /** A certificate was issued that is not kept. */
  RenewalPlan counted(Instant now) {
    List<Instant> all = Stream.concat(issued.stream(), Stream.of(now)).toList();
    List<Instant> last = all.subList(Math.max(0, all.size() - MOST_ISSUED), all.size());
    return new RenewalPlan(last, failures, notBefore, error, isStopped, chosen, because, askAgain);
  }

  /** The authority suggests no moment, or nothing new. */
  RenewalPlan unsuggested(ServerCertificate certificate, Instant now, RandomGenerator random) {
    Instant moment = chosen;
    if (moment == null) {
      Duration lifetime = lifetime(certificate);
      boolean isShort = lifetime.compareTo(SHORT_LIFETIME) < 0;
      long used = isShort ? lifetime.toMillis() / 2 : lifetime.toMillis() / 3 * 2;
      long spread = random.nextLong(lifetime.toMillis() / SPREAD_PART + 1);
      moment = certificate.notBefore().plusMillis(used - spread);
    }
    return moved(moment, because, now.plus(ASK_EVERY));
  }

  /** The authority suggests to renew within that time. */
  RenewalPlan suggested(
      Window by, ServerCertificate certificate, Instant now, RandomGenerator random) {
    String suggested = "the authority suggests " + by.start() + " to " + by.end();
    Instant latest =
        certificate.notBefore().plus(lifetime(certificate).multipliedBy(5).dividedBy(6));
    Instant moment = chosen;
    if (!suggested.equals(because) || moment == null) {
      Duration span = Duration.between(by.start(), by.end());
      moment = by.start().plusMillis(random.nextLong(Math.max(1, span.toMillis())));
    }
    Instant again = now.plus(ASK_EVERY);
    Instant retryAfter = by.retryAfter();
    if (retryAfter != null && retryAfter.isAfter(again)) {
      Instant last = now.plus(ASK_AT_MOST_AFTER);
      again = retryAfter.isBefore(last) ? retryAfter : last;
    }
    return moved(moment.isBefore(latest) ? moment : latest, suggested, again);
  }

  private RenewalPlan moved(Instant moment, String suggested, Instant again) {
    return new RenewalPlan(issued, failures, notBefore, error, isStopped, moment, suggested, again);
  }

  private static Duration lifetime(ServerCertificate certificate) {
    return Duration.between(certificate.notBefore(), certificate.notAfter());
  }
}
