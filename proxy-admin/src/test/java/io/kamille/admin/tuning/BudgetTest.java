package io.kamille.admin.tuning;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BudgetTest {

  @TempDir private Path proc;

  @Test
  void itHalvesWhileMemoryIsShortAndComesBackSlowly() {
    var budget = new Budget();
    budget.adapt(0.9);
    budget.adapt(0.9);
    assertThat(budget.bytes(1600)).isEqualTo(400);
    for (int i = 0; i < 10; i++) {
      budget.adapt(0.99);
    }
    assertThat(budget.bytes(1600)).isEqualTo(100);
    budget.adapt(0.1);
    assertThat(budget.bytes(1600)).isEqualTo(260);
  }

  @Test
  void pressureIsWhatTcpHoldsOfWhereTheKernelBeginsToSave() throws IOException {
    write(
        "net/sockstat",
        "sockets: used 9\nTCP: inuse 6 orphan 0 tw 0 alloc 8 mem 300\nUDP: inuse 0 mem 7\n");
    write("sys/net/ipv4/tcp_mem", "100\t400\t600\n");
    assertThat(new MemoryPressure(proc).now()).isGreaterThanOrEqualTo(0.75);
  }

  @Test
  void whatTheKernelDoesNotTellIsNoPressure() throws IOException {
    write("net/sockstat", "nonsense");
    assertThat(new MemoryPressure(proc).now()).isLessThan(0.75);
  }

  @Test
  void limitsAreTheKernelsOrThoseOfAFreshLinux() throws IOException {
    assertThat(KernelLimits.read(proc)).isEqualTo(new KernelLimits(2 << 20, 212_992));
    write("sys/net/ipv4/tcp_wmem", "4096\t16384\t8388608\n");
    write("sys/net/core/wmem_max", "4194304\n");
    assertThat(KernelLimits.read(proc)).isEqualTo(new KernelLimits(4 << 20, 4 << 20));
  }

  @Test
  void fairnessFallsIfSomeCarryLessOfWhatTheirPathsCould() {
    assertThat(Sizing.fairness(DoubleStream.of(0.8, 0.8, Double.NaN))).isEqualTo(1);
    assertThat(Sizing.fairness(DoubleStream.of(1, 0, 0, 0))).isEqualTo(0.25);
    assertThat(Sizing.fairness(DoubleStream.of(1, 0.5))).isEqualTo(0.9);
    assertThat(Sizing.fairness(DoubleStream.of(Double.NaN))).isEqualTo(1);
  }

  @Test
  void aGroupIsA24AndWhatIsKnownOfItFades() throws IOException {
    var groups = new ClientGroups();
    var estimate = new Estimate(Estimate.Basis.LOSS, 1000, 10, 10, 0.01, 16, 0, 0, 0, 5000, 1);
    groups.learn(InetAddress.getByName("192.0.2.7"), estimate);
    assertThat(groups.of(InetAddress.getByName("192.0.2.9")).demandBytes()).isEqualTo(5000);
    assertThat(groups.of(InetAddress.getByName("192.0.3.9")).isKnown()).isFalse();
    groups.fade(2400);
    assertThat(groups.of(InetAddress.getByName("192.0.2.9")).isKnown()).isFalse();
  }

  /** The kernel gives the numbers of /proc/sys to the first read of a file alone. */
  @Test
  void theRunningKernelsLimitsAreReadWhole() {
    assertThat(KernelLimits.read(Path.of("/proc")).tunedBytes()).isGreaterThan(16 << 10);
    assertThat(KernelLimits.read(Path.of("/proc")).fixedBytes()).isGreaterThan(4 << 10);
  }

  private void write(String file, String text) throws IOException {
    Path path = proc.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text);
  }

  @Test
  void noGroupBeginsBeyondTheMostAndThoseThatAreKnownStay() throws IOException {
    var groups = new ClientGroups();
    var estimate = new Estimate(Estimate.Basis.LOSS, 1000, 10, 10, 0.01, 16, 0, 0, 0, 5000, 1);
    int most = 65_536;
    for (int i = 0; i < 2 * most; i++) {
      groups.learn(group(i), estimate);
    }
    for (int i = 0; i < 2 * most; i++) {
      assertThat(groups.of(group(i)).isKnown()).isEqualTo(i < most);
    }
    groups.learn(group(0), estimate);
    assertThat(groups.of(group(0)).demandBytes()).isEqualTo(5000);
    groups.fade(86_400);
    groups.learn(group(most), estimate);
    assertThat(groups.of(group(most)).isKnown()).as("the others have faded").isTrue();
  }

  private static InetAddress group(int number) throws IOException {
    return InetAddress.getByAddress(
        new byte[] {(byte) (number >> 16), (byte) (number >> 8), (byte) number, 1});
  }
}
