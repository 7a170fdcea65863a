package io.kamille.launcher.acme;

import static java.util.stream.Collectors.toMap;

import io.kamille.core.tls.Challenges;
import io.kamille.core.tls.SelfSigned;
import io.kamille.core.tls.ServerCertificate;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Shows an authority what it asks for: by HTTP ({@code core.client.HttpsPolicy}) and by TLS ({@code
 * core.client.open.ConnectionOpener}) from every process that serves the store, by DNS through a
 * program of the operator. One thread.
 */
final class Prover {

  private static final System.Logger LOG = System.getLogger("kamille.certificates");

  /** How often others look for proofs. */
  static final Duration POLL = Duration.ofSeconds(1);

  private static final Duration OTHERS_POLL = POLL.multipliedBy(2);

  private static final Duration HOOK_LIMIT = Duration.ofMinutes(10);

  private final CertificateStore store;
  private final Challenges challenges;
  private final Map<Proof, ServerCertificate> certificates = new HashMap<>();
  // Volatile: another process may come while an authority is about to ask.
  private volatile boolean isShared;

  Prover(CertificateStore store, Challenges challenges) {
    this.store = store;
    this.challenges = challenges;
  }

  /** Whether the authority may ask other processes, too, which need a moment to see a proof. */
  void share(boolean isShared) {
    this.isShared = isShared;
  }

  /** Shows it, until {@link #hide}. */
  void show(Proof proof, List<String> dnsHook) throws IOException, InterruptedException {
    if (proof.challenge() == Way.DNS_01) {
      DnsHook.run(dnsHook, "present", proof, HOOK_LIMIT);
      return;
    }
    store.open(proof);
    refresh();
    if (isShared) {
      Thread.sleep(OTHERS_POLL);
    }
  }

  /** Hides it again, whether or not it was shown. A record that stays spoils no order. */
  void hide(Proof proof, List<String> dnsHook) throws IOException, InterruptedException {
    if (proof.challenge() == Way.DNS_01) {
      try {
        DnsHook.run(dnsHook, "cleanup", proof, HOOK_LIMIT);
      } catch (IOException left) {
        LOG.log(Level.WARNING, "{0}: its TXT record stays: {1}", proof.name(), left.getMessage());
      }
    } else {
      store.close(proof);
      refresh();
    }
  }

  /** Goes by what the store says may be asked, whoever has ordered. */
  void refresh() throws IOException {
    List<Proof> proofs = store.proofs();
    certificates.keySet().retainAll(proofs);
    Map<String, ServerCertificate> byName = new HashMap<>();
    for (Proof proof : proofs) {
      if (proof.challenge() == Way.TLS_ALPN_01) {
        if (!certificates.containsKey(proof)) {
          certificates.put(
              proof,
              SelfSigned.proving(Instant.now(), proof.name(), Proof.sha256(proof.authorization())));
        }
        byName.put(proof.serverName(), certificates.get(proof));
      }
    }
    challenges.replace(
        proofs.stream()
            .filter(proof -> proof.challenge() == Way.HTTP_01)
            .collect(toMap(Proof::token, Proof::authorization, (one, _) -> one)),
        byName);
  }
}
