#pragma once
namespace specsample::inline SPECSAMPLE_ABI {
}
