set -e
cd /work/dev && . /work/venv/bin/activate
NB=$(python -m nanobind --cmake_dir)
cmake -S . -B /work/dev/build/d -G Ninja -DCMAKE_BUILD_TYPE=Release -DSKBUILD_PROJECT_VERSION=0.1.0 -DLACONIC_WARNINGS_AS_ERRORS=ON -Dnanobind_DIR=$NB -DPython_EXECUTABLE=$(which python) > /tmp/cm.log 2>&1 || tail -5 /tmp/cm.log
cmake --build build/d 2>&1 | grep -E "error|warning|FAILED" | head -20 || true
cp build/d/_core*.so src/laconic/
