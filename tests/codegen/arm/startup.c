/* startup.c: the least a Cortex-M needs to run main under qemu: a stack, a floating-point unit, memory as C expects
 * it, an exit. Console and exit go through semihosting (newlib's rdimon). */
#include <stdint.h>
#include <stdlib.h>

extern uint32_t stack_top, data_from, data_start, data_end, bss_start, bss_end;
extern void initialise_monitor_handles(void);
int main(void);

void reset(void) {
  *(volatile uint32_t *)0xE000ED88 |= 0xFu << 20; /* CPACR: full access to the floating-point unit */
  __asm volatile("dsb\n isb");
  for (uint32_t *from = &data_from, *to = &data_start; to < &data_end;) *to++ = *from++;
  for (uint32_t *to = &bss_start; to < &bss_end;) *to++ = 0;
  initialise_monitor_handles();
  exit(main());
}

/* SYS_EXIT_EXTENDED with a code of its own, so that a fault is no silence */
static void fault(void) {
  static const uint32_t words[2] = {0x20026, 99};
  register uint32_t r0 __asm("r0") = 0x20;
  register const uint32_t *r1 __asm("r1") = words;
  __asm volatile("bkpt 0xAB" : : "r"(r0), "r"(r1) : "memory");
  for (;;) {
  }
}

void _init(void) {}
void _fini(void) {}

/* NMI, hard fault, memory, bus and usage fault; nothing here interrupts */
__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))(uintptr_t)&stack_top, reset, fault, fault, fault, fault, fault};
