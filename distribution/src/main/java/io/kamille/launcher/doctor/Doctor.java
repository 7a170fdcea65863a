package io.kamille.launcher.doctor;

import io.kamille.cache.memory.Folios;
import io.kamille.cache.settings.DiskSettings;
import io.kamille.core.client.open.Listener;
import io.kamille.core.tls.TlsSettings.CertificateFiles;
import io.kamille.launcher.configuration.Configuration;
import io.netty.util.NetUtil;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Looks at kernel settings, limits, memory, clock, names and disk. Changes nothing. One thread. */
public final class Doctor {

  /** For everything but connections, as at a start. */
  private static final long OWN_DESCRIPTORS = 200;

  private static final long MIB = 1L << 20;
  private static final long KIB = 1L << 10;
  private static final long SLAB_KIB = 64;
  private static final Duration RENEWAL = Duration.ofDays(14);
  private static final String STRICT = "2";
  private static final String AS_ROOT = "Run kamille doctor as root: this user cannot look at it.";

  /** Instead of a process: whether one runs is hidden from this user. */
  public static final long UNSEEN = -1;

  private static final Pattern HEAP = Pattern.compile("-Xmx([0-9]{1,12})([kmgKMG]?)\\x00");

  private final Path root;
  private final Path process;
  private final Configuration configuration;
  private final List<Finding> findings = new ArrayList<>();

  /**
   * One thing that was looked at.
   *
   * @param found its value
   * @param advice what to change, and why; empty if it is well
   */
  public record Finding(String subject, String found, String advice) {

    /** Whether nothing is to be changed. */
    public boolean isWell() {
      return advice.isEmpty();
    }

    @Override
    public String toString() {
      return (isWell() ? "ok      " : "change  ")
          + subject
          + ": "
          + found
          + (isWell() ? "" : ". " + advice);
    }
  }

  private Doctor(Path root, String process, Configuration configuration) {
    this.root = root;
    this.process = root.resolve("proc").resolve(process);
    this.configuration = configuration;
  }

  /**
   * Everything that was looked at.
   *
   * @param root the directory that holds {@code proc} and {@code run}, usually {@code /}
   * @param running the process whose limits count; 0 for our own, if none runs, or {@link #UNSEEN}
   */
  public static List<Finding> examine(Path root, long running, Configuration configuration) {
    Doctor doctor = new Doctor(root, running > 0 ? "" + running : "self", configuration);
    String none =
        running == UNSEEN
            ? "this user cannot see if one runs, run kamille doctor as root"
            : "none runs";
    doctor.judge("process", running > 0 ? "" + running : none + "; limits are those of here", "");
    doctor.descriptors();
    doctor.backlog();
    doctor.ports();
    doctor.memory();
    doctor.overcommit();
    doctor.pages();
    doctor.clock();
    doctor.names();
    doctor.certificates();
    doctor.disk(configuration.cache().disk());
    return doctor.findings;
  }

  private void descriptors() {
    long wanted = 2L * configuration.limits().connections() + OWN_DESCRIPTORS;
    long allowed = KernelFile.openFiles(process);
    compare(
        "file descriptors",
        allowed,
        wanted,
        "Set LimitNOFILE=" + wanted + ": each client may need a second one, toward an origin.");
  }

  private void backlog() {
    String advice =
        "Set it to " + Listener.BACKLOG + ": the kernel cuts the queue of new connections to it.";
    if (!configuration.listeners().isEmpty()) {
      number(text("proc/sys/net/core/somaxconn"))
          .ifPresent(value -> compare("net.core.somaxconn", value, Listener.BACKLOG, advice));
    }
  }

  private void ports() {
    String range = text("proc/sys/net/ipv4/ip_local_port_range");
    String[] ends = range.split("\\s+", 2);
    if (ends.length < 2) {
      return;
    }
    long ports = number(ends[1]).orElse(0L) - number(ends[0]).orElse(0L) + 1;
    long wanted =
        (long) configuration.loops()
            * configuration.upstreams().values().stream()
                .mapToInt(upstream -> upstream.settings().pool().maxConnections())
                .max()
                .orElse(0);
    compare(
        "net.ipv4.ip_local_port_range",
        ports,
        wanted,
        "Widen it to 10240 65535, or lower max-connections: each connection to an origin needs a"
            + " port.");
  }

  private void memory() {
    long capacity = configuration.cache().memory().capacityBytes();
    long wanted = (capacity + heapBytes()) / MIB + 64;
    long kib = KernelFile.field(root.resolve("proc/meminfo"), "MemAvailable:");
    long available = kib == 0 ? Long.MAX_VALUE : (kib + ownKib()) / 1024;
    compare(
        "available memory in MiB",
        available,
        wanted,
        "Lower cache.memory.capacity or set -Xmx in KAMILLE_JAVA_OPTS: cache, heap and 64 MiB are"
            + " "
            + wanted
            + " MiB.");
  }

  /** What it has already. */
  private long ownKib() {
    Path status = process.resolve("status");
    return KernelFile.field(status, "RssAnon:") + KernelFile.field(status, "RssShmem:");
  }

  /** By its last option, which counts; otherwise the default is the same here and there. */
  private long heapBytes() {
    Matcher option = HEAP.matcher(String.join("", KernelFile.lines(process.resolve("cmdline"))));
    long bytes = Runtime.getRuntime().maxMemory();
    while (option.find()) {
      int shift = 10 * (1 + "kmg".indexOf(option.group(2).toLowerCase(Locale.ROOT)));
      bytes = Long.parseLong(option.group(1)) << (option.group(2).isEmpty() ? 0 : shift);
    }
    return bytes;
  }

  private void overcommit() {
    String mode = text("proc/sys/vm/overcommit_memory");
    judge(
        "vm.overcommit_memory",
        mode,
        mode.equals(STRICT)
            ? "Set it to 0: with 2, large responses are copied instead of sent from the cache."
            : "");
  }

  private void pages() {
    if (Files.isReadable(root.resolve(Folios.SWITCH))) {
      long found = Folios.bytes(root) / KIB;
      compare(
          "pages of cache.memory in KiB",
          found,
          SLAB_KIB,
          "Write advise to /" + Folios.SWITCH + ": a hit of 64 KiB or more then costs less.");
    }
  }

  private void clock() {
    boolean isSynchronized = Files.exists(root.resolve("run/systemd/timesync/synchronized"));
    boolean isKeptByOthers =
        Files.exists(root.resolve("run/chrony")) || Files.exists(root.resolve("run/ntpd.pid"));
    if (isSynchronized || isKeptByOthers) {
      judge("clock", "kept by a time service", "");
    } else {
      String advice = "Enable systemd-timesyncd or chrony: Age and Expires go by the time of day.";
      judge("clock", "no time service seen", advice);
    }
  }

  private void names() {
    configuration.upstreams().values().stream()
        .flatMap(upstream -> upstream.origins().stream())
        .map(origin -> origin.url().host())
        .distinct()
        .forEach(this::name);
  }

  private void name(String host) {
    try {
      judge("origin " + host, NetUtil.toAddressString(InetAddress.getByName(host)), "");
    } catch (UnknownHostException unknown) {
      String advice = "Correct the name or the resolver: requests to it are answered with 502.";
      judge("origin " + host, "no address", advice);
    }
  }

  private void certificates() {
    for (CertificateFiles files : configuration.certificates()) {
      String subject = "certificate " + files.chain();
      try {
        Instant end = files.read().notAfter();
        boolean isWell = end.isAfter(Instant.now().plus(RENEWAL));
        judge(subject, "until " + end, isWell ? "" : "Renew it: it is refused after that.");
      } catch (IOException unusable) {
        boolean isHidden = isHidden(files.chain()) || isHidden(files.key());
        judge(subject, String.valueOf(unusable.getMessage()), isHidden ? AS_ROOT : "Replace it.");
      }
    }
  }

  private void disk(DiskSettings disk) {
    Path existing = disk.path();
    try {
      // Without a path there is no disk tier.
      while (existing != null && Files.notExists(existing)) {
        existing = existing.getParent();
      }
      if (existing == null) {
        return;
      }
      compare(
          "space for " + disk.path() + " in MiB",
          Files.getFileStore(existing).getUsableSpace() / MIB,
          disk.capacityBytes() / MIB,
          "Lower cache.disk.capacity, or use another file system: segments are written until it is"
              + " reached.");
    } catch (IOException failed) {
      judge(
          String.valueOf(disk.path()),
          String.valueOf(failed.getMessage()),
          isHidden(existing) ? AS_ROOT : "Look at it.");
    }
  }

  /** Whether a file is there, or may be, and this user cannot read it. */
  public static boolean isHidden(@Nullable Path file) {
    return file != null && !Files.isReadable(file) && !Files.notExists(file);
  }

  private void compare(String subject, long found, long wanted, String advice) {
    String value = found == Long.MAX_VALUE ? "unlimited" : String.format(Locale.ROOT, "%,d", found);
    judge(subject, value, found >= wanted ? "" : advice);
  }

  private void judge(String subject, String found, String advice) {
    findings.add(new Finding(subject, found, advice));
  }

  private static Optional<Long> number(String text) {
    return text.matches("[0-9]{1,18}") ? Optional.of(Long.parseLong(text)) : Optional.empty();
  }

  private String text(String file) {
    return KernelFile.text(root.resolve(file));
  }
}
